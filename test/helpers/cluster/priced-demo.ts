import { withRegistry } from './with-registry.ts';

/** The environment of an ingress on which the demo model costs a dollar for a million tokens of input, two of output. */
export function pricedDemo(): Record<string, string> {
  return withRegistry('prices:\n  demo: { input: 1, output: 2 }\n');
}
