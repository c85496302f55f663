import { PARSERS } from './parsers.ts'
import { serveFuzz } from './serve.ts'

serveFuzz(PARSERS)
