import { cleanBuild, ensureBuilt, ensureInstalled } from './setup.mjs'

ensureInstalled()
cleanBuild()
ensureBuilt()
