import { useEffect, useRef, useState } from 'react';
import type { About } from '../../../contract/live.ts';
import { askModel, pathOf } from './ask-model.ts';
import { buildRequest } from './build-request.ts';
import {
  newAnswer,
  openCalls,
  withPiece,
  type AssistantTurn,
  type Piece,
  type Settings,
  type ToolCall,
  type Turn,
} from '../../formats/conversation.ts';

export interface ConversationControl {
  turns: readonly Turn[];
  isRunning: boolean;
  /** Sends what was said, if anything, and waits for the answer. */
  send: (text: string, images: string[]) => void;
  /** Gives the model what a tool gave; with the last one it goes on. */
  answerCall: (call: ToolCall, result: NonNullable<ToolCall['result']>) => void;
  /** Asks for the last answer again. */
  again: () => void;
  stop: () => void;
  clear: () => void;
}

/** A conversation with a model, and the request that runs. */
export function useConversation(settings: Settings, segments: About['segments']): ConversationControl {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [running, setRunning] = useState<AbortController>();
  const last = useRef<AbortController>(undefined);
  useEffect(() => () => last.current?.abort(), []);

  const ask = (said: readonly Turn[]): void => {
    const controller = new AbortController();
    last.current = controller;
    setTurns([...said, newAnswer()]);
    setRunning(controller);
    // What comes late for a request that was given up must not end in the answer of the next.
    const change = (of: (answer: AssistantTurn) => AssistantTurn): void => {
      if (last.current === controller) changeAnswer(setTurns, of);
    };
    const collected = collect((pieces) => change((answer) => pieces.reduce(withPiece, answer)));
    askModel(
      pathOf(settings.format, segments),
      settings.format,
      buildRequest(said, settings),
      collected.add,
      controller.signal,
    )
      .then(
        () => undefined,
        (error: unknown) => {
          if (!controller.signal.aborted) collected.add([{ kind: 'error', message: messageOf(error) }]);
        },
      )
      .finally(() => {
        collected.flush();
        const ended = controller.signal.aborted ? 'stopped' : 'done';
        change((answer) => (answer.state === 'failed' ? answer : { ...answer, state: ended }));
        setRunning((now) => (now === controller ? undefined : now));
      });
  };

  return {
    turns,
    isRunning: running !== undefined,
    send: (text, images) => ask([...turns, { role: 'user', text, images }]),
    answerCall: (call, result) => {
      const answered = turns.map((turn, index) =>
        turn.role === 'assistant' && index === turns.length - 1
          ? { ...turn, toolCalls: turn.toolCalls.map((each) => (each === call ? { ...each, result } : each)) }
          : turn,
      );
      if (openCalls(answered).length === 0) ask(answered);
      else setTurns(answered);
    },
    again: () => ask(turns.at(-1)?.role === 'assistant' ? turns.slice(0, -1) : turns),
    stop: () => running?.abort(),
    clear: () => {
      running?.abort();
      last.current = undefined;
      setTurns([]);
    },
  };
}

/** Milliseconds for which pieces are collected: more renderings than that nobody sees. */
const collectMs = 40;

function collect(onPieces: (pieces: Piece[]) => void): { add: (pieces: Piece[]) => void; flush: () => void } {
  let waiting: Piece[] = [];
  let timer: number | undefined;
  const flush = (): void => {
    window.clearTimeout(timer);
    timer = undefined;
    if (waiting.length > 0) onPieces(waiting);
    waiting = [];
  };
  return {
    add: (pieces) => {
      waiting.push(...pieces);
      timer ??= window.setTimeout(flush, collectMs);
    },
    flush,
  };
}

function changeAnswer(
  setTurns: (change: (turns: readonly Turn[]) => readonly Turn[]) => void,
  change: (answer: AssistantTurn) => AssistantTurn,
): void {
  setTurns((turns) => {
    const answer = turns.at(-1);
    return answer?.role === 'assistant' ? [...turns.slice(0, -1), change(answer)] : turns;
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
