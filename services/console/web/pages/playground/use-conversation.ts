import { useEffect, useRef, useState } from 'react';
import {
  newAnswer,
  callsWithoutResult,
  withPiece,
  type AssistantTurn,
  type Settings,
  type ToolCall,
  type Turn,
} from '../../formats/conversation.ts';
import type { ServedFormat } from '../../formats/web-formats.ts';
import { sendRequest } from './ask-model.ts';
import { collectPieces } from './collect-pieces.ts';
import { useRecords } from './use-records.ts';

export interface ConversationControl {
  turns: readonly Turn[];
  isRunning: boolean;
  /** The number of requests that were sent so far. */
  requestCount: number;
  send: (text: string, images: string[]) => void;
  /**
   * Sends another text in place of a turn of the user. Removes all later turns.
   * @param place the index of the turn
   */
  edit: (place: number, text: string) => void;
  /**
   * Adds the result of a tool call. With the result of the last call, it sends the conversation. Ignores a call that is no longer in the
   * last answer.
   */
  answerCall: (call: ToolCall, result: NonNullable<ToolCall['result']>) => void;
  /**
   * Replaces the last answer by another one.
   * @param model default: the model of the settings
   */
  again: (model?: string) => void;
  stop: () => void;
  /** Shows another conversation. Its unfinished answers count as stopped. */
  load: (turns: readonly Turn[]) => void;
}

export function useConversation(format: ServedFormat, settings: Settings): ConversationControl {
  const [turns, showTurns] = useState<readonly Turn[]>([]);
  const [running, setRunning] = useState<AbortController>();
  const [requestCount, setAsked] = useState(0);
  const last = useRef<AbortController>(undefined);
  // The current turns, which may be newer than the rendered ones. A result may come when another conversation is shown than that of its
  // call.
  const next = useRef(turns);
  const [changeTurns] = useState(() => (change: (now: readonly Turn[]) => readonly Turn[]): void => {
    next.current = change(next.current);
    showTurns(next.current);
  });
  const setTurns = (now: readonly Turn[]): void => changeTurns(() => now);
  useEffect(() => () => last.current?.abort(), []);
  useRecords(turns, changeTurns);

  const ask = (sentTurns: readonly Turn[], model = settings.model): void => {
    last.current?.abort();
    const controller = new AbortController();
    last.current = controller;
    setTurns([...sentTurns, newAnswer(format.name)]);
    setRunning(controller);
    setAsked((count) => count + 1);
    // Late pieces of an abandoned request must not get into the answer of the next request.
    const change = (of: (answer: AssistantTurn) => AssistantTurn): void => {
      if (last.current === controller) changeAnswer(changeTurns, of);
    };
    const collected = collectPieces((pieces) => change((answer) => pieces.reduce(withPiece, answer)));
    sendRequest(format, format.buildRequest(sentTurns, { ...settings, model }), collected.add, controller.signal)
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
    requestCount,
    send: (text, images) => ask([...turns, { role: 'user', text, images }]),
    edit: (place, text) => {
      const turn = turns[place];
      if (turn?.role === 'user') ask([...turns.slice(0, place), { ...turn, text }]);
    },
    answerCall: (call, result) => {
      const answer = next.current.at(-1);
      if (answer?.role !== 'assistant' || !answer.toolCalls.includes(call)) return;
      const toolCalls = answer.toolCalls.map((each) => (each === call ? { ...each, result } : each));
      const answered = [...next.current.slice(0, -1), { ...answer, toolCalls }];
      if (callsWithoutResult(answered).length === 0) ask(answered);
      else setTurns(answered);
    },
    again: (model) => ask(turns.at(-1)?.role === 'assistant' ? turns.slice(0, -1) : turns, model),
    stop: () => running?.abort(),
    load: (loaded) => {
      last.current?.abort();
      last.current = undefined;
      setRunning(undefined);
      setTurns(allOver(loaded));
    },
  };
}

/** Marks unfinished answers as stopped. Returns the same array when all answers are finished. */
function allOver(turns: readonly Turn[]): readonly Turn[] {
  const isOpen = (turn: Turn): turn is AssistantTurn =>
    turn.role === 'assistant' && (turn.state === 'waiting' || turn.state === 'streaming');
  return turns.some(isOpen) ? turns.map((turn) => (isOpen(turn) ? { ...turn, state: 'stopped' } : turn)) : turns;
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
