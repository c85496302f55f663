import { expect, test } from 'vitest'
import { nextUrl } from './http.ts'

const redirect = (location: string) => new Response(null, { status: 302, headers: { location } })

test('a redirect may lead to another host, and from http to https', () => {
  expect(nextUrl(redirect('https://store.test/x'), new URL('https://hub.test/y')).href).toBe('https://store.test/x')
  expect(nextUrl(redirect('/x'), new URL('https://hub.test/y')).href).toBe('https://hub.test/x')
  expect(nextUrl(redirect('https://hub.test/y'), new URL('http://hub.test/y')).href).toBe('https://hub.test/y')
  expect(nextUrl(redirect('http://127.0.0.1:2/x'), new URL('http://127.0.0.1:1')).href).toBe('http://127.0.0.1:2/x')
})

test('a redirect from https to http is refused', () => {
  expect(() => nextUrl(redirect('http://store.test/x'), new URL('https://hub.test/y'))).toThrow(
    'https://hub.test redirects to http://store.test, which is not encrypted; check HF_ENDPOINT',
  )
})
