// Builds a page of web/ into one file, script and style inside: node scripts/build-page.mjs <page> <folder>
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { root } from './setup.mjs'

const [page, folder] = process.argv.slice(2)
const source = join(root, 'web', page)

const { output } = await build({
  configFile: false,
  root: source,
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    write: false,
    target: 'es2023',
    modulePreload: false,
    cssCodeSplit: false,
    rolldownOptions: { input: join(source, 'main.tsx') },
  },
})

const scripts = output.filter(({ type }) => type === 'chunk').map(({ code }) => code)
const styles = output.filter(({ fileName }) => fileName.endsWith('.css')).map(({ source: css }) => String(css))
if (scripts.length !== 1 || styles.length !== 1) {
  throw new Error(`${page} became ${scripts.length} scripts and ${styles.length} styles, expected one of each`)
}

/** Functions as replacements: the script is full of $. */
const html = readFileSync(join(source, 'index.html'), 'utf8')
  .replace('/* style */', () => styles[0].trim().replaceAll('</', '<\\/'))
  .replace('/* script */', () => scripts[0].trim().replaceAll('</script', '<\\/script'))
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, `${page}.html`), html)
