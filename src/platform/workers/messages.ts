/** Messages of a supervisor to its workers. */
export type ToWorker =
  /** how many signals to stop the supervisor has got */
  | { kind: 'stop'; level: number }
  /** asks for the metrics of a service */
  | { kind: 'metrics'; id: number; service: string }
  /** what the other workers, and the supervisor itself, have answered to `collect` */
  | { kind: 'collected'; id: number; texts: string[] };

/** Messages of a worker to its supervisor. */
export type ToSupervisor =
  /** it serves; where, as URLs by service */
  | { kind: 'ready'; listening: Record<string, string | undefined> }
  | { kind: 'metrics'; id: number; text: string }
  /** asks for the metrics that all others have of a service */
  | { kind: 'collect'; id: number; service: string };
