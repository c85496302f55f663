import { afterAll } from 'vitest'
import { endFile } from './file-end.ts'

// Set up for every file, also where files share a process and what they import.
afterAll(endFile)
