import { readFileSync } from 'node:fs';
import { ConfigError } from '#shared/core/load-config.ts';
import { parseRegistry } from './parse-registry.ts';
import { emptyRegistry, type Registry } from './registry.ts';

/**
 * Reads the registry once, for what is only looked at when a service starts.
 * @param file without one the registry is empty
 * @throws ConfigError when the file is missing or bad
 */
export function readRegistry(file: string | undefined): Registry {
  return file === undefined ? emptyRegistry : parseRegistry(readRegistryText(file), file);
}

/** The text of a registry file. @throws ConfigError when it is missing */
export function readRegistryText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConfigError(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
