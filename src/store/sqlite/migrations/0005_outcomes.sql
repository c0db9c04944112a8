-- What is told of a decision after it, and who tells.

CREATE INDEX section_decision ON section (chain, json_extract(json, '$.decisionId'), seq)
  WHERE name = 'data' AND json_extract(json, '$.decisionId') IS NOT NULL;

CREATE INDEX section_reporter ON section (chain, json_extract(json, '$.reportedBy'), seq)
  WHERE name = 'data' AND json_extract(json, '$.reportedBy') IS NOT NULL;
