import torch
from transformers import ResNetConfig, ResNetModel

config = ResNetConfig(
    layer_type="basic",
    embedding_size=16,
    hidden_sizes=[16, 32],
    depths=[1, 1],
)
torch.manual_seed(0)
model = ResNetModel(config).eval()
images = torch.randn(4, 3, 64, 64)
with torch.inference_mode():
    out = model(images)
    again = model(images)
print(tuple(out.last_hidden_state.shape))
print(tuple(out.pooler_output.shape))
print(torch.equal(out.pooler_output, again.pooler_output))
