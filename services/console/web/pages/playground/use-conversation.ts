import { useEffect, useRef, useState } from 'react';
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
import type { ServedFormat } from '../../formats/web-formats.ts';
import { askModel } from './ask-model.ts';

export interface ConversationControl {
  turns: readonly Turn[];
  isRunning: boolean;
  /** Sends a turn of the user and shows the answer. */
  send: (text: string, images: string[]) => void;
  /** Adds the result of a tool call; after the last one the conversation is sent. */
  answerCall: (call: ToolCall, result: NonNullable<ToolCall['result']>) => void;
  /** Replaces the last answer by another one. */
  again: () => void;
  stop: () => void;
  clear: () => void;
}

/** A conversation with a model, and the running request. */
export function useConversation(format: ServedFormat, settings: Settings): ConversationControl {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [running, setRunning] = useState<AbortController>();
  const last = useRef<AbortController>(undefined);
  useEffect(() => () => last.current?.abort(), []);

  const ask = (said: readonly Turn[]): void => {
    const controller = new AbortController();
    last.current = controller;
    setTurns([...said, newAnswer(format.name)]);
    setRunning(controller);
    // Late pieces of an abandoned request must not end up in the answer of the next one.
    const change = (of: (answer: AssistantTurn) => AssistantTurn): void => {
      if (last.current === controller) changeAnswer(setTurns, of);
    };
    const collected = collect((pieces) => change((answer) => pieces.reduce(withPiece, answer)));
    askModel(format, format.buildRequest(said, settings), collected.add, controller.signal)
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

/** Milliseconds for which pieces are collected before they are shown: more frequent renderings are not visible. */
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
