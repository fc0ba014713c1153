import { parseDocument } from 'yaml';
import { ConfigError } from '#shared/core/load-config.ts';
import { registrySchema, type Registry } from './registry.ts';

/**
 * Reads the text of a registry file. An empty one is an empty registry.
 * @throws ConfigError with one sentence for each thing that is wrong, naming the line or the field
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
