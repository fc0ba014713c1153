import { z } from 'zod';

/** Characters of a name at most: as many as the path of a model's file needs. */
const maxName = 256;

/**
 * The name of a model, a tool or a format, as a worker gives it. It gets into pages, terminals, logs and tables: it is one line of visible
 * text without angle brackets, and not what every object inherits, such as `__proto__`.
 */
export const announcedName = z
  .string()
  .max(maxName)
  .regex(/^[^<>\p{C}\p{Zl}\p{Zp}]+$/u)
  .refine((name) => !(name in {}));

/** One line of text for people, without control characters, cut after this many characters. */
export function announcedText(maxLength: number): z.ZodType<string> {
  return z.string().transform((text) => text.slice(0, maxLength).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, ''));
}
