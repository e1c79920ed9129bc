import torch
import transformers as hf

resnet = hf.ResNetModel(
    hf.ResNetConfig(
        layer_type="basic",
        embedding_size=16,
        hidden_sizes=[16, 32],
        depths=[1, 1],
    )
)
bert = hf.BertModel(
    hf.BertConfig(
        vocab_size=100,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
    )
)
images = torch.randn(2, 3, 32, 32)
ids = torch.randint(1, 100, (2, 8))
for name, model, given in (
    ("ResNet", resnet, images),
    ("BERT", bert, ids),
):
    found = torch._dynamo.explain(model.eval())(given)
    print(name, found.graph_count, found.graph_break_count)
