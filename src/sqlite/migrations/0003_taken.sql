-- What was allowed, by time, and by agent and session: what rules about earlier actions ask for, without reading a decision.

CREATE INDEX section_taken ON section (chain, seq, json_extract(json, '$.taken'), json_extract(json, '$.caller.agent'))
  WHERE name = 'grounds' AND json_extract(json, '$.taken') IS NOT NULL;

CREATE INDEX section_session ON section
  (chain, json_extract(json, '$.caller.agent'), json_extract(json, '$.session'), seq, json_extract(json, '$.taken'))
  WHERE name = 'grounds' AND json_extract(json, '$.taken') IS NOT NULL AND json_extract(json, '$.session') IS NOT NULL;
