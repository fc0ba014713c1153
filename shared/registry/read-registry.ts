import { readFileSync } from 'node:fs';
import { parseDocument, type Document } from 'yaml';
import { ConfigError } from '#shared/core/load-config.ts';
import { shownSections } from './editable-sections.ts';
import { protoFieldMessage, toPlainValue, findProtoFields } from './plain-value.ts';
import { emptyRegistry, registrySchema, type Registry } from './registry.ts';

/**
 * Reads the registry once, for services that use it only at their start.
 * @param file if undefined, the registry is empty
 * @throws ConfigError if the file is missing or invalid
 */
export function readRegistry(file: string | undefined): Registry {
  return file === undefined ? emptyRegistry : parseRegistry(readRegistryText(file), file);
}

/**
 * Reads the text of a registry file.
 * @throws ConfigError if the file cannot be read
 */
export function readRegistryText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConfigError(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** A registry, and the sections of it that the console shows. */
export interface ParsedRegistry {
  registry: Registry;
  /** The content of the `shownSections`, as it stands in the file. */
  shownContent: Record<string, unknown>;
}

/**
 * Parses the text of a registry file. An empty text is an empty registry.
 * @throws ConfigError with one sentence per mistake, which names the line or the field
 */
export function parseRegistry(text: string, file: string): Registry {
  return parseRegistryFile(text, file).registry;
}

/** Does the same as `parseRegistry`, and also returns the sections that the console shows. */
export function parseRegistryFile(text: string, file: string): ParsedRegistry {
  const document = parseDocument(text);
  if (document.errors.length > 0)
    throw new ConfigError(document.errors.map(({ message }) => `${file}: ${message}`).join('\n'));
  const content = toValue(document, file);
  const [protoField] = findProtoFields(content);
  if (protoField) throw new ConfigError(`${file}: ${protoField.join('.')}: ${protoFieldMessage}`);
  const parsed = registrySchema.safeParse(content);
  if (parsed.success) return { registry: parsed.data, shownContent: pickShownSections(content) };
  const sentences = parsed.error.issues.map(
    ({ path, message }) => `${file}: ${path.map(String).join('.') || 'the file'}: ${message}`,
  );
  throw new ConfigError(sentences.join('\n'));
}

function toValue(document: Document, file: string): unknown {
  try {
    return toPlainValue(document);
  } catch (cause) {
    throw new ConfigError(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

function pickShownSections(content: unknown): Record<string, unknown> {
  if (typeof content !== 'object' || content === null) return {};
  return Object.fromEntries(Object.entries(content).filter(([section]) => shownSections.includes(section)));
}
