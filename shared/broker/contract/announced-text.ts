import { z } from 'zod';

/** Maximum characters of a name: enough for the path of a model's file. */
const maxNameLength = 256;

/**
 * The schema of a name of a model, a tool or a format that a worker announces. Pages, terminals, logs and tables show the name, so it must
 * be one line of visible text without angle brackets. Names that every object inherits, such as `__proto__`, are refused.
 */
export const announcedName = z
  .string()
  .max(maxNameLength)
  .regex(/^[^<>\p{C}\p{Zl}\p{Zp}]+$/u)
  .refine((name) => !(name in {}));

/** The schema of a text for people. It cuts the text to `maxLength` characters and removes line breaks and control characters. */
export function announcedText(maxLength: number): z.ZodType<string> {
  return z.string().transform((text) => text.slice(0, maxLength).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ''));
}
