using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace Cairn.Benchmarks.ReadableFile;

/// <summary>
/// The method of Net.DistributedFileStoreCache, whose package the feed does not carry: each change opens the file for itself, parses all of
/// it, changes a dictionary, and writes all of it again. The form of the file is the same.
/// </summary>
internal sealed class WholeFile
{
    private static readonly JsonSerializerOptions Json = new() { TypeInfoResolver = new DefaultJsonTypeInfoResolver() };

    private readonly string _path;

    public WholeFile(string path, int entries)
    {
        _path = path;
        var content = new Content();
        for (int i = 0; i < entries; i++)
        {
            content.Cache[FileScale.Key(i)] = FileScale.Value(i);
        }

        File.WriteAllBytes(path, JsonSerializer.SerializeToUtf8Bytes(content, Json));
    }

    public void Set(ReadOnlySpan<KeyValuePair<string, string>> entries)
    {
        using var file = new FileStream(_path, FileMode.Open, FileAccess.ReadWrite, FileShare.None, bufferSize: 1);
        var bytes = new byte[file.Length];
        file.ReadExactly(bytes);
        Content content = JsonSerializer.Deserialize<Content>(bytes, Json)!;
        foreach ((string key, string value) in entries)
        {
            content.Cache[key] = value;
        }

        file.Seek(0, SeekOrigin.Begin);
        file.SetLength(0);
        file.Write(JsonSerializer.SerializeToUtf8Bytes(content, Json));
    }

    internal sealed class Content
    {
        public Dictionary<string, string> Cache { get; set; } = new(StringComparer.Ordinal);

        public Dictionary<string, long> TimeOuts { get; set; } = new(StringComparer.Ordinal);
    }
}
