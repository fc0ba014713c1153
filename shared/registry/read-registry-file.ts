import { readFileSync } from 'node:fs';
import { ConfigError } from '#shared/core/load-config.ts';
import { parseRegistry } from './parse-registry.ts';
import { emptyRegistry, type Registry } from './registry.ts';

/**
 * Reads the registry file once; without one the registry is empty.
 * @throws ConfigError when it is missing or cannot be used
 */
export function readRegistryFile(file: string | undefined): Registry {
  return file === undefined ? emptyRegistry : parseRegistry(readRegistryText(file), file);
}

/** The text of the registry file. @throws ConfigError */
export function readRegistryText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConfigError(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
