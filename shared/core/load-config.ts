import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** The environment that configures a service: `process.env`, or an object in tests. */
export type Environment = Record<string, string | undefined>;

/** The error for a missing or invalid setting. The message names the variable and is shown to the operator unchanged. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** The kinds of settings. `doc` describes the variable in error messages and in the tables of docs/configuration.md. */
export const setting = {
  text: (doc: string, fallback: string) => z.string().min(1).default(fallback).describe(doc),
  optionalText: (doc: string) => z.string().min(1).optional().describe(doc),
  integer: (doc: string, fallback: number, min: number, max: number) =>
    wholeNumber(min, max).default(fallback).describe(doc),
  optionalInteger: (doc: string, min: number, max: number) => wholeNumber(min, max).optional().describe(doc),
  /** A word that is safe in URL paths, NATS subjects and Redis keys. */
  pathSegment: (doc: string, fallback: string) =>
    z
      .string()
      .regex(/^[\w-]+$/, 'must consist of letters, digits, _ and -')
      .default(fallback)
      .describe(doc),
  flag: (doc: string, fallback: boolean) =>
    z
      .enum(['true', 'false', '1', '0'])
      .transform((value) => value === 'true' || value === '1')
      .default(fallback)
      .describe(doc),
  choice: <const T extends [string, ...string[]]>(doc: string, fallback: NoInfer<T[number]>, values: T) =>
    z.enum(values).prefault(fallback).describe(doc),
  list: (doc: string) =>
    z
      .string()
      .default('')
      .transform((value) =>
        value
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== ''),
      )
      .describe(doc),
};

/** The settings of the log of every service. */
export const logSettings = {
  LOG_LEVEL: setting.choice(
    'Least severe level of log lines to print: `trace`, `debug`, `info`, `warn`, `error` or `fatal`',
    'info',
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
  ),
  LOG_FORMAT: setting.choice(
    'Format of log lines: `json`, `pretty`, or `auto` (pretty in a terminal, else JSON)',
    'auto',
    ['auto', 'json', 'pretty'],
  ),
};

/** Accepts decimal digits only, because `0x1F90`, `1e3` or a blank are more likely mistakes. */
function wholeNumber(min: number, max: number) {
  const isInRange = (value: string): boolean => /^[0-9]+$/.test(value) && Number(value) >= min && Number(value) <= max;
  return z.string().refine(isInRange, `must be a whole number from ${min} to ${max}`).transform(Number);
}

/**
 * Reads a service's settings from the environment. An empty variable counts as unset. The value of any variable `X` may instead be in a
 * file that the variable `X_FILE` names, which is the usual way to pass secrets to containers.
 * @throws ConfigError with one sentence for every invalid variable
 */
export function loadConfig<T extends z.ZodObject>(schema: T, environment: Environment): z.output<T> {
  const nonEmpty: Environment = {};
  const fromFiles = new Set<string>();
  for (const name of Object.keys(schema.shape)) {
    const value = environment[name] || undefined;
    const file = environment[`${name}_FILE`] || undefined;
    if (value !== undefined && file !== undefined)
      throw new ConfigError(`${name} and ${name}_FILE are both set: set only one of them`);
    // Editors and `echo` append a line break, which is not part of the value.
    const effectiveValue = file === undefined ? value : readText(`${name}_FILE`, file).replace(/\r?\n$/, '');
    if (file !== undefined) fromFiles.add(name);
    if (effectiveValue !== undefined && effectiveValue !== '') nonEmpty[name] = effectiveValue;
  }
  const parsed = schema.safeParse(nonEmpty);
  if (parsed.success) return parsed.data;
  const sentences = parsed.error.issues.map((issue) => {
    const name = String(issue.path[0]);
    const doc = schema.shape[name]?.description ?? '';
    const value = nonEmpty[name];
    // The error does not repeat a value that may be secret: a URL with a user may contain a password, and a file a secret.
    const isSecret =
      value === undefined || value.includes('@') || fromFiles.has(name) || /_(?:SECRET|KEY|PASSWORD)$/.test(name);
    const description = isSecret ? name : `${name}=${JSON.stringify(value)}`;
    return `${description} is not valid: ${issue.message} (${doc})`;
  });
  throw new ConfigError(sentences.join('\n'));
}

/**
 * Reads the certificates (PEM) from the file that a setting names.
 * @param name the variable's name
 * @throws ConfigError if the file cannot be read or holds no certificate; it names the variable and the file
 */
export function readCertificates(name: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const text = readText(name, file);
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw new ConfigError(`${name}=${file} holds no certificate`);
  return text;
}

function readText(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConfigError(`${name}=${file} cannot be read: ${String(cause)}`, { cause });
  }
}
