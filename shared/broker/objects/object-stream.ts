import {
  DiscardPolicy,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type StreamConfig,
} from '@nats-io/jetstream';
import type { Logger } from '#shared/core/log.ts';
import type { Broker } from '../connection/connect-broker.ts';
import {
  createReplicated,
  isApiError,
  openJetStreamManager,
  streamNameInUse,
  streamNotFound,
} from '../connection/jetstream.ts';

/** Milliseconds within which the broker must answer. The slowest call deletes an object of 512 MiB, in a fraction of a second. */
const answerTimeoutMs = 5_000;

/** JetStream's errors for a stream that is larger than the servers or the account allow, or for which no server has room. */
const noRoomCodes = [10002, 10005, 10023, 10028, 10047];

/** Bytes of the smallest stream that is tried if the servers have little room. */
const minStreamBytes = 16 * 1024 * 1024;

/**
 * The JetStream stream that stores objects in files. It keeps one message for each subject, so a part that is stored twice exists once.
 * When the stream is full, it refuses further parts.
 */
export class ObjectStream {
  readonly #broker: Broker;
  readonly #maxBytes: number;
  readonly #log: Logger;
  #creation: Promise<void> | undefined;

  /** @param maxBytes the maximum size of the stream. The stream is made smaller if the servers have less room */
  constructor(broker: Broker, maxBytes: number, log: Logger) {
    this.#broker = broker;
    this.#maxBytes = maxBytes;
    this.#log = log;
  }

  /** Creates the stream, or updates an existing one to the current settings. Does so once per instance. */
  ensure(): Promise<void> {
    this.#creation ??= this.#createFitting().catch((error: unknown) => {
      this.#creation = undefined;
      throw error;
    });
    return this.#creation;
  }

  /**
   * Asks the broker when the stream was created, and creates it if it is missing. A stream that was created at another time than before has
   * lost all its parts. The time of a stream changes when its server starts again.
   * @throws if the broker does not answer
   */
  async readCreationTime(): Promise<string> {
    await this.ensure();
    const { streams } = await this.#openManager();
    const read = async (): Promise<string> => (await streams.info(this.#broker.subjects.objectStream)).created;
    try {
      return await read();
    } catch (error) {
      if (!isApiError(error, streamNotFound)) throw error;
      await this.ensureAgain();
      return read();
    }
  }

  /** Creates the stream if it is missing, even if `ensure` was called before. */
  async ensureAgain(): Promise<void> {
    this.#creation = undefined;
    await this.ensure();
  }

  /**
   * Deletes all parts of an object.
   * @returns the number of deleted parts
   */
  async deleteObject(name: string): Promise<number> {
    const { objectStream, objectParts } = this.#broker.subjects;
    const { purged } = await (await this.#openManager()).streams.purge(objectStream, { filter: objectParts(name) });
    return purged;
  }

  /** Reads the part with this subject from the leader of the stream. Returns undefined if there is no such part, or no stream. */
  async findPart(subject: string): Promise<Uint8Array | undefined> {
    const { streams } = await this.#openManager();
    try {
      return (await streams.getMessage(this.#broker.subjects.objectStream, { last_by_subj: subject }))?.data;
    } catch (error) {
      if (isApiError(error, streamNotFound)) return undefined;
      throw error;
    }
  }

  /**
   * Creates or updates the stream, with copies on several nodes if there are enough. If the servers have too little room, tries half the
   * size again and again, down to `minStreamBytes`.
   */
  async #createFitting(): Promise<void> {
    const manager = await this.#openManager();
    return createReplicated(this.#broker, async (copies) => {
      for (let maxBytes = this.#maxBytes; ; maxBytes = Math.max(minStreamBytes, Math.floor(maxBytes / 2))) {
        try {
          await this.#createWith(manager, copies, maxBytes);
          if (maxBytes < this.#maxBytes)
            this.#log.warn({ maxBytes, wanted: this.#maxBytes }, 'NATS has less room for files than is set');
          return;
        } catch (error) {
          if (maxBytes <= minStreamBytes || !isApiError(error, ...noRoomCodes)) throw error;
        }
      }
    });
  }

  async #createWith(manager: JetStreamManager, copies: number, maxBytes: number): Promise<void> {
    const { objectStream: name, allObjects } = this.#broker.subjects;
    const config = {
      name,
      subjects: [allObjects],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.New,
      max_msgs_per_subject: 1,
      max_bytes: maxBytes,
      allow_direct: true,
      num_replicas: copies,
    };
    // Update first: when space is short, NATS answers `add` with an error for missing room, even for a stream that exists already.
    if (await updateStream(manager, config)) return;
    try {
      await manager.streams.add(config);
    } catch (error) {
      if (!isApiError(error, streamNameInUse)) throw error;
      await manager.streams.update(name, config);
    }
  }

  #openManager(): Promise<JetStreamManager> {
    return openJetStreamManager(this.#broker, answerTimeoutMs);
  }
}

/** Updates an existing stream. Returns false if there is no such stream. */
async function updateStream(
  { streams }: JetStreamManager,
  config: Partial<StreamConfig> & { name: string },
): Promise<boolean> {
  try {
    await streams.update(config.name, config);
    return true;
  } catch (error) {
    if (isApiError(error, streamNotFound)) return false;
    throw error;
  }
}
