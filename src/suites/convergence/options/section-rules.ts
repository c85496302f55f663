import { z } from 'zod'
import { shapedSection } from '../../section-shape.ts'

const training = z.strictObject({
  testConfigPath: z.string(),
  storagePath: z.string(),
  manifestName: z.string().optional(),
  root: z.string().optional(),
})

/** Its paths stay as they are: a test runs beside the configuration that names it. */
export const CONVERGENCE_RULES = shapedSection('convergence', z.array(training))
