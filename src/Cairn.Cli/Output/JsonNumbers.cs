using System.Text.Json;

namespace Cairn.Cli.Output;

/// <summary>Writes numbers that may be unknown as JSON.</summary>
internal static class JsonNumbers
{
    public static void WriteNumberOrNull(this Utf8JsonWriter writer, ReadOnlySpan<byte> name, double? number)
    {
        if (number is { } known)
        {
            writer.WriteNumber(name, known);
        }
        else
        {
            writer.WriteNull(name);
        }
    }

    /// <summary>Writes a ratio with six decimals.</summary>
    public static void WriteRatio(this Utf8JsonWriter writer, ReadOnlySpan<byte> name, double? ratio) =>
        writer.WriteNumberOrNull(name, ratio is { } known ? Math.Round(known, 6) : null);
}
