import { describe, expect, test } from 'vitest'
import { readTarget } from '../registry.ts'

describe('an ssh target', () => {
  test('is read with its defaults left out of the name', () => {
    const target = readTarget('ssh:root@10.0.0.7,program=runner,ttl=60s,lease=board,port=2222')
    expect(target.name).toBe('ssh:root@10.0.0.7,port=2222,program=runner')
    expect(readTarget('npu=ssh,deploy=./runner')).toMatchObject({ name: 'npu', device: '' })
  })

  test.each([
    ['program=-x', 'program=-x of an ssh target; expected the name or path of a program'],
    ['program=', 'expected the name or path of a program'],
    ['program=x,deploy=a\u0000b', 'no control characters; it has \\u0000'],
    ['program=x,arg=a\nb', 'no control characters; it has \\n'],
    ['program=x,port=0', 'port=0 of an ssh target; expected a number from 1 to 65535'],
    ['program=x,port=22;id', 'expected a number from 1 to 65535'],
    ['program=x,ttl=1', 'ttl=1 of an ssh target; expected 2s to 3600s'],
    ['program=x,ttl=soon', 'expected a time such as 20s or 5min'],
    ['program=x,wait=-1', 'wait=-1 of an ssh target; expected a time'],
    ['program=x,lease=../x', 'lease=../x of an ssh target; expected a short name'],
    ['program=x,env=1=secret', 'env=1=… of an ssh target; expected NAME=value'],
    ['arg=x', 'must say what to run on the board: program=<name there>, deploy=<file to send>, or both'],
  ])('with %j is refused', (options, message) => {
    expect(() => readTarget(`ssh:root@host,${options}`)).toThrow(message)
  })
})
