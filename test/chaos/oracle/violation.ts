export interface Violation {
  rule:
    | 'never ended'
    | 'ended late'
    | 'wrong text'
    | 'silent end'
    | 'broken connection'
    | 'bytes after the end'
    | 'refused'
    | 'executed twice'
    | 'not executed'
    | 'busy slot'
    | 'ledger'
    | 'poison'
    | 'blamed'
    | 'crashed'
    | 'too many failures'
    | 'not recovered'
    | 'leftover'
    | 'batch';
  /** The request or component. */
  id: string;
  detail: string;
}
