import { defineTool, z, type OwnTool } from '../../own/define-tool.ts';
import { evaluate } from './evaluate.ts';
import { constants, functions } from './functions.ts';

const maxCharacters = 500;

/** Number of digits of a result: six fewer than in the calculation, which hides rounding errors. */
const resultDigits = 34;

/** Creates the tool `calculator`, which does decimal arithmetic without binary floating point. */
export function createCalculator(): OwnTool {
  return defineTool({
    name: 'calculator',
    description:
      `Calculates an arithmetic expression with ${resultDigits} significant digits. Operators: + - * / % ^ ! and parentheses. ` +
      `Constants: ${Object.keys(constants).join(', ')}. Functions: ${Object.keys(functions).join(', ')}. Angles are in radians.`,
    input: z.object({
      expression: z.string().min(1).max(maxCharacters).describe('The expression, such as (1 + 2) * sqrt(16) / 3'),
    }),
    run: ({ expression }) => {
      const result = evaluate(expression).toSignificantDigits(resultDigits);
      const text = result.e > resultDigits || result.e < -resultDigits ? result.toString() : result.toFixed();
      return { content: [{ type: 'text', text }], structuredContent: { expression, result: text } };
    },
  });
}
