import { createHmac, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '#shared/core/seal.ts';
import { isKeyId } from '../../keys/parse-key.ts';

const tokenPattern = /^rtr_refresh_([^_]+)_(\d{1,9})_[\w-]{43}$/;

/** The content of a refresh token. `generation` numbers the tokens of a program, from 0. */
export interface RefreshToken {
  programId: string;
  generation: number;
}

/**
 * Writes and reads refresh tokens: `rtr_refresh_<program>_<generation>_<HMAC-SHA-256>`. The store keeps only the current generation of a
 * program. So no secret of a token is stored, and an old token can be distinguished from a forged token.
 */
export class RefreshTokens {
  readonly #secrets: () => readonly Uint8Array[];

  /** @param secrets returns the secrets of the cluster, newest first. The first secret makes tokens, and every secret verifies them. */
  constructor(secrets: () => readonly Uint8Array[]) {
    this.#secrets = secrets;
  }

  /** Returns the text of a token; undefined while no secret is known. */
  write(token: RefreshToken): string | undefined {
    const [newest] = this.#secrets();
    return newest && writeWith(newest, token);
  }

  /** Returns the content of a token; undefined for any other text. */
  read(text: string): RefreshToken | undefined {
    const [, programId = '', generation] = tokenPattern.exec(text) ?? [];
    if (!isKeyId(programId)) return undefined;
    const token = { programId, generation: Number(generation) };
    const bytes = Buffer.from(text);
    const isOurs = this.#secrets().some((secret) => {
      const written = Buffer.from(writeWith(secret, token));
      return written.length === bytes.length && timingSafeEqual(written, bytes);
    });
    return isOurs ? token : undefined;
  }
}

function writeWith(secret: Uint8Array, { programId, generation }: RefreshToken): string {
  const text = `rtr_refresh_${programId}_${generation}`;
  const mac = createHmac('sha256', deriveKey(secret, 'refresh tokens')).update(text).digest('base64url');
  return `${text}_${mac}`;
}
