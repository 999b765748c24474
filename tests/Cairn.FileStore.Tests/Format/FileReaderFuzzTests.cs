using System.Buffers;
using System.Text;
using System.Text.Json;
using Cairn.FileStore.Entries;
using Cairn.FileStore.Format;
using Xunit.Abstractions;

namespace Cairn.FileStore.Tests.Format;

/// <summary>The reader answers for every damaged file, and accepts only valid JSON.</summary>
public class FileReaderFuzzTests(ITestOutputHelper output)
{
    private const int Inputs = 100_000;

    [Fact]
    public void Damaged_files_are_read_or_refused_but_never_more_than_JSON_allows()
    {
        int seed = Environment.TickCount;
        output.WriteLine($"seed {seed}");
        var random = new Random(seed);
        int complete = 0;
        int torn = 0;
        for (int i = 0; i < Inputs; i++)
        {
            byte[] text = Damage(random, Compose(random));
            var table = new EntryTable();
            var reader = new FileReader(text);

            TextOutcome outcome = reader.ReadFile(table);

            Assert.InRange(reader.EndOfEntries, 0, text.Length);
            Assert.Equal(outcome == TextOutcome.Invalid, outcome != TextOutcome.Complete && outcome != TextOutcome.Torn);
            complete += outcome == TextOutcome.Complete ? 1 : 0;
            torn += outcome == TextOutcome.Torn ? 1 : 0;
            if (outcome == TextOutcome.Complete)
            {
                Assert.True(IsJson(text), Encoding.UTF8.GetString(text));
            }
            else if (outcome == TextOutcome.Invalid)
            {
                Assert.InRange(reader.Problem!.Line, 1, text.Length + 1);
            }
        }

        Assert.True(complete > Inputs / 100);
        Assert.True(torn > Inputs / 100);
    }

    private static byte[] Compose(Random random)
    {
        var buffer = new ArrayBufferWriter<byte>();
        if (random.Next(10) == 0)
        {
            buffer.Write("{\"Cache\":{\"a\":\"1\",\"b\":\"\\u0022\"},\"TimeOuts\":{\"a\":637000000000000000}}"u8);
            return buffer.WrittenSpan.ToArray();
        }

        buffer.Write(FileFormat.Header);
        int entries = random.Next(4);
        for (int i = 0; i < entries; i++)
        {
            buffer.Write(i == 0 ? FileFormat.FirstSeparator : FileFormat.Separator);
            object? value = random.Next(4) switch
            {
                0 => "text \" \ud800 é",
                1 => new JsonText("{\"a\":[1,2.5e3,\"x\\n\",true,null]}"u8.ToArray()),
                2 => TestBytes.Of(random.Next(10)),
                _ => null,
            };
            EntryWriter.Write(buffer, new Entry($"k{i}", value) { ExpiresTicks = random.Next(2) == 0 ? Entry.Never : DateTime.UtcNow.Ticks });
        }

        buffer.Write(FileFormat.Closing);
        return buffer.WrittenSpan.ToArray();
    }

    private static byte[] Damage(Random random, byte[] text)
    {
        List<byte> damaged = [.. text];
        int damages = random.Next(4);
        for (int i = 0; i < damages && damaged.Count > 0; i++)
        {
            int at = random.Next(damaged.Count);
            switch (random.Next(5))
            {
                case 0:
                    damaged[at] = (byte)random.Next(256);
                    break;
                case 1:
                    damaged.RemoveAt(at);
                    break;
                case 2:
                    damaged.Insert(at, "{}[]\",:\\ \n0u"u8[random.Next(12)]);
                    break;
                case 3:
                    damaged.RemoveRange(at, damaged.Count - at);
                    break;
                default:
                    int from = random.Next(damaged.Count);
                    damaged.InsertRange(at, damaged.GetRange(from, Math.Min(20, damaged.Count - from)));
                    break;
            }
        }

        return [.. damaged];
    }

    // Utf8JsonReader refuses lone halves of surrogate pairs only when code requests the text. So this method checks the structure only.
    private static bool IsJson(byte[] text)
    {
        try
        {
            var json = new Utf8JsonReader(text.AsSpan().StartsWith("\uFEFF"u8) ? text.AsSpan(3) : text, new JsonReaderOptions { MaxDepth = 1000 });
            while (json.Read())
            {
            }

            return true;
        }
        catch (JsonException)
        {
            return false;
        }
    }
}
