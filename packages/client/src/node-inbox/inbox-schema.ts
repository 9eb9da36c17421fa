/** Written to `application_id`, so that another program's file is never taken for ours. */
export const applicationId = 0x4f53_4958;
export const schemaVersion = 1;

export const schema = `
CREATE TABLE own_keys (
  position INTEGER PRIMARY KEY,
  idempotency_key TEXT NOT NULL UNIQUE,
  machine_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  added_at_ms INTEGER NOT NULL,
  delivery_id TEXT,
  server_instance_id TEXT,
  state TEXT NOT NULL CHECK (state IN ('open', 'answered', 'rejected')),
  CHECK ((delivery_id IS NULL) = (server_instance_id IS NULL))
) STRICT;
CREATE INDEX own_keys_by_state ON own_keys (state, position);

CREATE TABLE results (
  position INTEGER PRIMARY KEY,
  server_instance_id TEXT NOT NULL,
  result_id TEXT NOT NULL,
  payload TEXT NOT NULL,
  stored_at_ms INTEGER NOT NULL,
  utterance TEXT NOT NULL CHECK (utterance IN ('queued', 'playing', 'spoken', 'uncertain')),
  UNIQUE (server_instance_id, result_id)
) STRICT;
CREATE INDEX results_by_utterance ON results (utterance, position);

CREATE TABLE resume_point (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  server_instance_id TEXT NOT NULL,
  cursor INTEGER NOT NULL
) STRICT;
`;
