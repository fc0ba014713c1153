import { useEffect, useRef, useState } from 'react';
import {
  createAnswer,
  findCallsWithoutResult,
  addPiece,
  type AssistantTurn,
  type ConversationSettings,
  type ToolCall,
  type Turn,
} from '../../formats/conversation.ts';
import type { ServedFormat } from '../../formats/web-formats.ts';
import { askModel, collectPieces } from './ask-model.ts';
import { useLedgerRecords } from './use-ledger-records.ts';

export interface ConversationControl {
  turns: readonly Turn[];
  isRunning: boolean;
  /** The number of requests sent so far. */
  requestCount: number;
  send: (text: string, images: string[]) => void;
  /**
   * Sends another text in place of a turn of the user. Removes all later turns.
   * @param turnIndex the index of the turn
   */
  edit: (turnIndex: number, text: string) => void;
  /**
   * Adds the result of a tool call. Once all calls of the answer have a result, sends the conversation. Ignores a call that is no longer in
   * the last answer.
   */
  answerCall: (call: ToolCall, result: NonNullable<ToolCall['result']>) => void;
  /**
   * Replaces the last answer with a new answer.
   * @param model default: the model in the settings
   */
  answerAgain: (model?: string) => void;
  stop: () => void;
  /** Shows another conversation. Its unfinished answers count as stopped. */
  load: (turns: readonly Turn[]) => void;
}

/** Holds the turns of one side of the playground, and sends the requests of this side in `format`. */
export function useConversation(format: ServedFormat, settings: ConversationSettings): ConversationControl {
  const [turns, setShownTurns] = useState<readonly Turn[]>([]);
  const [runningRequest, setRunningRequest] = useState<AbortController>();
  const [requestCount, setRequestCount] = useState(0);
  const lastRequest = useRef<AbortController>(undefined);
  // The current turns may be newer than the rendered turns. The result of a tool call, for example, may come after another conversation was
  // loaded.
  const currentTurns = useRef(turns);
  const [changeTurns] = useState(() => (change: (before: readonly Turn[]) => readonly Turn[]): void => {
    currentTurns.current = change(currentTurns.current);
    setShownTurns(currentTurns.current);
  });
  const setTurns = (newTurns: readonly Turn[]): void => changeTurns(() => newTurns);
  useEffect(() => () => lastRequest.current?.abort(), []);
  useLedgerRecords(turns, changeTurns);

  const ask = (sentTurns: readonly Turn[], model = settings.model): void => {
    lastRequest.current?.abort();
    const controller = new AbortController();
    lastRequest.current = controller;
    setTurns([...sentTurns, createAnswer(format.name)]);
    setRunningRequest(controller);
    setRequestCount((count) => count + 1);
    // Late pieces of an abandoned request must not get into the answer of the next request.
    const changeOwnAnswer = (change: (answer: AssistantTurn) => AssistantTurn): void => {
      if (lastRequest.current === controller) changeAnswer(changeTurns, change);
    };
    const collector = collectPieces((pieces) => changeOwnAnswer((answer) => pieces.reduce(addPiece, answer)));
    askModel(format, format.buildRequest(sentTurns, { ...settings, model }), collector.add, controller.signal)
      .then(
        () => undefined,
        (error: unknown) => {
          if (!controller.signal.aborted) collector.add([{ kind: 'error', message: readMessage(error) }]);
        },
      )
      .finally(() => {
        collector.flush();
        const endState = controller.signal.aborted ? 'stopped' : 'done';
        changeOwnAnswer((answer) => (answer.state === 'failed' ? answer : { ...answer, state: endState }));
        setRunningRequest((request) => (request === controller ? undefined : request));
      });
  };

  return {
    turns,
    isRunning: runningRequest !== undefined,
    requestCount,
    send: (text, images) => ask([...turns, { role: 'user', text, images }]),
    edit: (turnIndex, text) => {
      const turn = turns[turnIndex];
      if (turn?.role === 'user') ask([...turns.slice(0, turnIndex), { ...turn, text }]);
    },
    answerCall: (call, result) => {
      const answer = currentTurns.current.at(-1);
      if (answer?.role !== 'assistant' || !answer.toolCalls.includes(call)) return;
      const toolCalls = answer.toolCalls.map((toolCall) => (toolCall === call ? { ...toolCall, result } : toolCall));
      const answeredTurns = [...currentTurns.current.slice(0, -1), { ...answer, toolCalls }];
      if (findCallsWithoutResult(answeredTurns).length === 0) ask(answeredTurns);
      else setTurns(answeredTurns);
    },
    answerAgain: (model) => ask(turns.at(-1)?.role === 'assistant' ? turns.slice(0, -1) : turns, model),
    stop: () => runningRequest?.abort(),
    load: (loaded) => {
      lastRequest.current?.abort();
      lastRequest.current = undefined;
      setRunningRequest(undefined);
      setTurns(stopUnfinished(loaded));
    },
  };
}

/** Marks unfinished answers as stopped. Returns the same array when all answers are finished. */
function stopUnfinished(turns: readonly Turn[]): readonly Turn[] {
  const isUnfinished = (turn: Turn): turn is AssistantTurn =>
    turn.role === 'assistant' && (turn.state === 'waiting' || turn.state === 'streaming');
  return turns.some(isUnfinished)
    ? turns.map((turn) => (isUnfinished(turn) ? { ...turn, state: 'stopped' } : turn))
    : turns;
}

/** Changes the last turn if the turn is an answer. */
function changeAnswer(
  setTurns: (change: (turns: readonly Turn[]) => readonly Turn[]) => void,
  change: (answer: AssistantTurn) => AssistantTurn,
): void {
  setTurns((turns) => {
    const answer = turns.at(-1);
    return answer?.role === 'assistant' ? [...turns.slice(0, -1), change(answer)] : turns;
  });
}

function readMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
