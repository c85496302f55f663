export { clearBins, countErrors } from './bins'
export { addUp, inspect, look, promote, subtract } from './exact'
export { addDistances, addRow } from './logits'
export { largest, scan } from './scan'
