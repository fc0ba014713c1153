/** A token of an arithmetic expression. `at` is the position of its first character, counted from 1, for errors. */
export type Token = { at: number } & (
  | { kind: 'number'; text: string }
  | { kind: 'name'; text: string }
  | { kind: 'sign'; text: string }
  | { kind: 'end' }
);

const patterns = {
  space: /\s+/y,
  number: /0x[\da-f]+|0b[01]+|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/iy,
  name: /[a-z_π√][\w]*/iy,
  sign: /\*\*|[-+*/%^(),!×÷−]/y,
};

/** Other spellings of signs. */
const spellings: Record<string, string> = { '**': '^', '×': '*', '÷': '/', '−': '-' };

/**
 * Splits an expression into tokens.
 * @throws Error that names the first character that begins no token
 */
export function tokenize(expression: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = position;
    const [text] = pattern.exec(expression) ?? [];
    position += text?.length ?? 0;
    return text;
  };
  for (;;) {
    match(patterns.space);
    const at = position + 1;
    if (position >= expression.length) return [...tokens, { kind: 'end', at }];
    const number = match(patterns.number);
    const name = number === undefined ? match(patterns.name) : undefined;
    const sign = number === undefined && name === undefined ? match(patterns.sign) : undefined;
    if (number !== undefined) tokens.push({ kind: 'number', text: number, at });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name.toLowerCase(), at });
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: spellings[sign] ?? sign, at });
    else throw new Error(`'${expression.charAt(position)}' at character ${at} is nothing that can be calculated with`);
  }
}
