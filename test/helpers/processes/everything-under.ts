export { readAllValues as everythingUnder } from '../accounts/read-all-values.ts';
