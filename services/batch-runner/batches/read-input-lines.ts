import { readLines, type TextLine } from '#shared/formats/batches/read-lines.ts';
import { heavyBytes, type HeavyTask, type HeavyWork } from '../heavy-work.ts';

/** A line of a batch's input; `number` counts from the start of the input. */
export interface InputLine extends TextLine {
  /** The heavy work on the line. It has begun if the line is large. The caller of `readInputLines` ends it. */
  heavyTask: HeavyTask;
}

export interface InputRange {
  /** Maximum bytes of a line; infinite if validation has checked it. */
  maxBytes?: number;
  /** Offset of the first piece in the input. */
  from?: number;
  /** Number of the first line in the input. */
  first?: number;
}

/**
 * Yields the lines of a batch's input. Heavy work on a large line begins before the whole line is in memory, so that this process
 * reads only one large line at a time.
 * @throws RouterError as `readLines` does; `store_unavailable`
 */
export async function* readInputLines(
  { heavyWork }: { heavyWork: Pick<HeavyWork, 'createTask'> },
  batch: string,
  pieces: AsyncIterable<Uint8Array>,
  { maxBytes = Infinity, from = 0, first = 1 }: InputRange = {},
): AsyncGenerator<InputLine> {
  let begunTask: { number: number; task: HeavyTask } | undefined;
  const takeTask = (number: number): HeavyTask => {
    const previous = begunTask;
    begunTask = undefined;
    if (previous?.number === number) return previous.task;
    previous?.task.end();
    return heavyWork.createTask(`${batch}:${number}`);
  };
  const onLarge = async (lineNumber: number): Promise<void> => {
    const number = first + lineNumber - 1;
    begunTask = { number, task: takeTask(number) };
    await begunTask.task.begin();
  };
  try {
    for await (const line of readLines(pieces, maxBytes, from, { from: heavyBytes, onBegin: onLarge })) {
      const number = first + line.number - 1;
      yield { ...line, number, heavyTask: takeTask(number) };
    }
  } finally {
    begunTask?.task.end();
  }
}
