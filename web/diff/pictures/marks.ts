import { EQUAL, NON_FINITE, OVER, WITHIN } from '../../../src/compare/slice/classify.ts'

/** How a class of cells is called and marked, so that colour alone never carries it. */
export interface Mark {
  readonly name: string
  readonly sign: string
  readonly style: string
}

export const MARKS: Readonly<Record<number, Mark>> = {
  [EQUAL]: { name: 'equal', sign: '=', style: 'equal' },
  [WITHIN]: { name: 'within', sign: '·', style: 'within' },
  [OVER]: { name: 'over', sign: '×', style: 'over' },
  [NON_FINITE]: { name: 'non-finite', sign: '!', style: 'non-finite' },
}
