import type { ToolSource } from '../name-tools.ts';
import { createCalculator } from './calculator/calculator.ts';
import { createCurrentTime } from './current-time.ts';
import { createHttpFetch } from './http-fetch.ts';

/** The tools that every tools worker has. They are safe without any settings. */
export const shippedTools: ToolSource = {
  prefix: undefined,
  tools: [createCurrentTime(), createCalculator(), createHttpFetch()],
  available: true,
};
