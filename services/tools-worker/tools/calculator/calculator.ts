import { defineTool, z, type OwnTool } from '../../own/define-tool.ts';
import { evaluate } from './evaluate.ts';
import { constants, functions } from './functions.ts';

const maxCharacters = 500;

/** Number of digits that a result has. They are six fewer than the calculation uses, which hides rounding. */
const shownDigits = 34;

/** Creates the tool `calculator`, which does decimal arithmetic without binary floating point. */
export function calculator(): OwnTool {
  return defineTool({
    name: 'calculator',
    description:
      `Calculates an arithmetic expression with ${shownDigits} significant digits. Operators: + - * / % ^ ! and parentheses. ` +
      `Constants: ${Object.keys(constants).join(', ')}. Functions: ${Object.keys(functions).join(', ')}. Angles are in radians.`,
    input: z.object({
      expression: z.string().min(1).max(maxCharacters).describe('The expression, as (1 + 2) * sqrt(16) / 3'),
    }),
    run: ({ expression }) => {
      const result = evaluate(expression).toSignificantDigits(shownDigits);
      const text = result.e > shownDigits || result.e < -shownDigits ? result.toString() : result.toFixed();
      return { content: [{ type: 'text', text }], structuredContent: { expression, result: text } };
    },
  });
}
