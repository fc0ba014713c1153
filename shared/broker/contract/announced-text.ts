import { z } from 'zod';

/** Maximum characters of a name, which are enough for the path of a model's file. */
const maxName = 256;

/**
 * The name of a model, a tool or a format, as a worker announces it. Pages, terminals, logs and tables show the name, so it must be one
 * line of visible text without angle brackets. Names that every object inherits, such as `__proto__`, are refused.
 */
export const announcedName = z
  .string()
  .max(maxName)
  .regex(/^[^<>\p{C}\p{Zl}\p{Zp}]+$/u)
  .refine((name) => !(name in {}));

/** One line of text for people, cut to `maxLength` characters, without control characters. */
export function announcedText(maxLength: number): z.ZodType<string> {
  return z.string().transform((text) => text.slice(0, maxLength).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ''));
}
