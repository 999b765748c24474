using Cairn.Benchmarks.Formats;

namespace Cairn.Benchmarks.Tests.Formats;

public sealed class CatalogueCodecTests
{
    [Fact]
    public void Every_format_gives_back_what_it_wrote_and_becomes_shorter_by_Brotli()
    {
        var value = Catalogue.Make(200);

        foreach (var format in FormatsArea.Formats)
        {
            using var codec = new CatalogueCodec(format);
            var plain = codec.Write(value).ToArray();
            var compressed = codec.WriteCompressed(value).ToArray();

            Assert.Equal(value.Records, codec.Read(plain).Records);
            Assert.Equal(value.Records, codec.ReadCompressed(compressed).Records);
            Assert.True(compressed.Length < plain.Length, codec.Name);
        }
    }
}
