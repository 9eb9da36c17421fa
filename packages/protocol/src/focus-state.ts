/** Who has the focus, and how often it moved: a request that names an older revision is refused. */
export interface FocusState {
  readonly focus: { readonly machineId: string; readonly agentId: string } | null;
  readonly focusRevision: number;
}
