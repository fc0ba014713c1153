import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { ConfigError } from '#shared/core/load-config.ts';
import { emptyRegistry, registrySchema, type Registry } from './registry.ts';

/**
 * Reads the registry once, for services that use it at their start only.
 * @param file if undefined, the registry is empty
 * @throws ConfigError if the file is missing or invalid
 */
export function readRegistry(file: string | undefined): Registry {
  return file === undefined ? emptyRegistry : parseRegistry(readRegistryText(file), file);
}

/** Reads the text of a registry file. @throws ConfigError if it cannot be read */
export function readRegistryText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConfigError(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/**
 * Parses the text of a registry file. An empty text is an empty registry.
 * @throws ConfigError with one sentence per mistake, which names the line or the field
 */
export function parseRegistry(text: string, file: string): Registry {
  const document = parseDocument(text);
  if (document.errors.length > 0)
    throw new ConfigError(document.errors.map(({ message }) => `${file}: ${message}`).join('\n'));
  const parsed = registrySchema.safeParse(document.toJS() ?? {});
  if (parsed.success) return parsed.data;
  const sentences = parsed.error.issues.map(
    ({ path, message }) => `${file}: ${path.map(String).join('.') || 'the file'}: ${message}`,
  );
  throw new ConfigError(sentences.join('\n'));
}
