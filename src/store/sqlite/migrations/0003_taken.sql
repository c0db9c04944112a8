-- What was allowed, by time, by agent, and by session: what rules about earlier actions ask for, without reading a decision.

CREATE INDEX section_taken ON section (chain, seq, json_extract(json, '$.taken'))
  WHERE name = 'grounds' AND json_extract(json, '$.taken') IS NOT NULL;

-- Beside section_taken, so that who has done little is not looked for among all that the others did.
CREATE INDEX section_agent ON section (chain, json_extract(json, '$.caller.agent'), seq, json_extract(json, '$.taken'))
  WHERE name = 'grounds' AND json_extract(json, '$.taken') IS NOT NULL;

CREATE INDEX section_session ON section
  (chain, json_extract(json, '$.caller.agent'), json_extract(json, '$.session'), seq, json_extract(json, '$.taken'))
  WHERE name = 'grounds' AND json_extract(json, '$.taken') IS NOT NULL AND json_extract(json, '$.session') IS NOT NULL;
