"""What models were seen to use is written into their manifest, and nothing else of it changes."""

from __future__ import annotations

from selector.manifests import ManifestDocument, load_manifests
from selector.manifests.authoring.model_uses import with_uses
from selector.manifests.model_schema import ModelUses

TEXT = """\
# Ours.
test_suite_config:
  files: []
  models:
    # The first.
    - name: one
      import_path: "a:b"  # a factory
      inputs: [{shape: [1], below: 2}]
      compare: [logits]
      dtypes: [float16]
    - {name: two, import_path: "a:b", inputs: [{shape: [1], below: 2}], compare: [logits], dtypes: [float16], uses: {}}
"""
SEEN = ModelUses(recorded_with="torch 2.13.0", operators=("aten::mm",), names=("torch.nn.modules.linear.Linear",))
WRITTEN = """\
      uses:
        recorded_with: torch 2.13.0
        operators:
          - aten::mm
        names:
          - torch.nn.modules.linear.Linear
"""


def test_it_is_written_at_the_model_and_the_rest_stays_as_it_is() -> None:
    written = with_uses(ManifestDocument("m.yaml", TEXT), {"one": SEEN, "of another manifest": SEEN})
    assert written == TEXT.replace("[float16]\n    - {name: two", f"[float16]\n{WRITTEN}    - {{name: two")
    models = load_manifests([ManifestDocument("m.yaml", written)]).models
    assert (models["models/one"].uses, models["models/two"].uses) == (SEEN, ModelUses())


def test_what_was_recorded_before_is_replaced() -> None:
    written = with_uses(ManifestDocument("m.yaml", TEXT), {"one": ModelUses(operators=("aten::add",))})
    again = with_uses(ManifestDocument("m.yaml", written), {"one": SEEN})
    assert load_manifests([ManifestDocument("m.yaml", again)]).models["models/one"].uses == SEEN
    assert "aten::add" not in again
