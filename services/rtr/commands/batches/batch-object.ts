/** A batch in the API, with the fields that the commands read. Times are in seconds since 1970. */
export interface BatchObject {
  id: string;
  endpoint: string;
  model?: string;
  status: BatchStatus;
  created_at: number;
  in_progress_at: number | null;
  expires_at: number | null;
  output_file_id: string | null;
  error_file_id: string | null;
  request_counts: { total: number; completed: number; failed: number };
  usage?: { input_tokens: number; output_tokens: number };
  errors?: { data: { message: string; line: number | null }[] } | null;
  /** Set while the lines of the batch wait for a limit. */
  paused?: { reason: string };
}

export type BatchStatus =
  | 'validating'
  | 'in_progress'
  | 'finalizing'
  | 'completed'
  | 'failed'
  | 'expired'
  | 'cancelling'
  | 'cancelled';

export function isOver({ status }: Pick<BatchObject, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'expired' || status === 'cancelled';
}

/** Returns the number of lines that have a result. */
export function countDone({ request_counts: { completed, failed } }: Pick<BatchObject, 'request_counts'>): number {
  return completed + failed;
}
