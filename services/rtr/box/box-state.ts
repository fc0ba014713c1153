import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { formatUserCredential } from '#shared/broker/connection/user-key.ts';
import { replaceFile } from '#shared/core/replace-file.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { findOwnCommand } from '../client/lib/own-command.mjs';
import { BoxError, newLineHint } from './box-error.ts';

const keySchema = z.object({ publicKey: z.string(), seed: z.string() });
const doorSchema = z.object({ address: z.url(), fingerprint: z.string().optional() });

const joinedSchema = doorSchema.extend({
  /** Digest of the invitation's secret. */
  invitation: z.string(),
  key: keySchema,
  name: z.string(),
  credentials: z.partialRecord(z.enum(tiers), z.string()),
  broker: z.string(),
  /** The router's certificate in PEM, if the invitation had its fingerprint. */
  certificate: z.string().optional(),
});

const stateSchema = z.object({
  v: z.literal(1),
  /** The membership with which this machine serves. */
  joined: joinedSchema.optional(),
  /** An invitation that is being exchanged. If its answer is lost, the exchange can be repeated with the same key. */
  pending: doorSchema.extend({ invitation: z.string(), key: keySchema }).optional(),
});

/** What a box keeps between its starts. It contains the box's secret keys. */
export type BoxState = z.output<typeof stateSchema>;

/** The membership of this machine in the fleet of a router. */
export type JoinedBox = z.output<typeof joinedSchema>;

/**
 * Reads the state of the box in a folder.
 * @throws BoxError `not_joined` if the file is damaged; the system's error if it cannot be read
 */
export function readBoxState(folder: string): BoxState {
  try {
    return stateSchema.parse(JSON.parse(readFileSync(stateFile(folder), 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) {
      if ('code' in error && error.code === 'ENOENT') return { v: 1 };
      throw error;
    }
    throw new BoxError(
      'not_joined',
      `${stateFile(folder)} is damaged: run \`${findOwnCommand()} leave\`, then join again; ${newLineHint}.`,
    );
  }
}

export function writeBoxState(folder: string, state: BoxState): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  replaceFile(stateFile(folder), `${JSON.stringify(state, undefined, 2)}\n`);
}

/** Writes the credential of each tier into a file of its own, for the workers. Returns the files. */
export function writeCredentialFiles(folder: string, box: JoinedBox): Partial<Record<Tier, string>> {
  const files: Partial<Record<Tier, string>> = {};
  for (const tier of tiers) {
    const jwt = box.credentials[tier];
    if (jwt === undefined) continue;
    files[tier] = join(folder, `${tier}.creds`);
    replaceFile(files[tier], formatUserCredential(jwt, box.key, box.certificate));
  }
  return files;
}

/** Returns the folder of the box in a data folder. */
export function boxFolder(data: string): string {
  return join(data, 'box');
}

/** Returns the address of the broker, such as `wss://10.0.0.4:8484/nats`. */
export function toBrokerUrl({ address, broker }: Pick<JoinedBox, 'address' | 'broker'>): string {
  const url = new URL(broker, address);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  return url.href;
}

function stateFile(folder: string): string {
  return join(folder, 'box.json');
}
