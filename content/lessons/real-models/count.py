import torch
import transformers as hf

small = hf.ResNetConfig(
    layer_type="basic",
    depths=[2, 2, 2, 2],
    hidden_sizes=[64, 128, 256, 512],
)
with torch.device("meta"):
    models = {
        "ResNet-18": hf.ResNetModel(small),
        "ResNet-50": hf.ResNetModel(hf.ResNetConfig()),
        "BERT-base": hf.BertModel(hf.BertConfig()),
    }
for name, model in models.items():
    count = sum(p.numel() for p in model.parameters())
    print(f"{name}: {count / 1e6:.1f}")
