export { largest, scan } from './scan'
export { addUp, inspect, look, promote, subtract } from './exact'
export { countErrors, clearBins } from './bins'
