using System.Text.Json;
using Cairn.FileStore.Engine;
using Cairn.FileStore.Entries;

namespace Cairn.Cli.CacheFiles;

/// <summary>Commands for single entries of a readable cache file: get, set, del, list.</summary>
internal static class CacheFileActions
{
    private static readonly UTF8Encoding StrictUtf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    public static int Get(CacheFileRequest request)
    {
        request.RequireWords(1, "get takes one key");
        using FileEngine file = request.OpenValid();
        string key = request.Words[0];
        if (file.FindEntry(key) is not { } entry)
        {
            return ReportMiss(request.Invocation, key);
        }

        ToolOutput output = request.Invocation.Output;
        if (request.Invocation.IsJson)
        {
            WriteJson(output, entry);
            return ExitCode.Done;
        }

        byte[] value = EntryText.BytesOf(entry.Value!);
        output.Write(request.IsBase64 ? Encoding.ASCII.GetBytes(Convert.ToBase64String(value)) : value);
        if (request.Invocation.Console.IsOutputTerminal)
        {
            output.WriteLine();
        }

        return ExitCode.Done;
    }

    public static int Set(CacheFileRequest request)
    {
        request.RequireWords(2, "set takes a key and a value");
        object value = ReadValue(request, request.Words[1]);
        using FileEngine file = request.Open();
        var entry = new Entry(request.Words[0], value)
        {
            ExpiresTicks = request.TimeToLive is { } time ? (request.Invocation.Console.Clock.GetUtcNow() + time).UtcTicks : Entry.Never,
        };
        file.Change([new EntryChange(entry)], isClearing: false);
        if (request.Invocation.IsJson)
        {
            using var line = new JsonLine(request.Invocation.Output);
            line.Writer.WriteString("key"u8, entry.Key);
            line.Writer.WriteString("status"u8, "stored"u8);
        }

        return ExitCode.Done;
    }

    public static int Delete(CacheFileRequest request)
    {
        if (request.IsAll == request.Words.Length > 0)
        {
            throw ToolException.Usage(request.IsAll ? "--all removes everything, so no key may be named" : "which keys? Name them, or give --all");
        }

        using FileEngine file = request.OpenExisting();
        string[] present = [.. request.Words.Where(key => file.FindEntry(key) is not null)];
        int removed = request.IsAll ? file.AllEntries().Length : present.Length;
        file.Change([.. present.Select(CacheFileRequest.Removal)], isClearing: request.IsAll);
        if (request.Invocation.IsJson)
        {
            using var line = new JsonLine(request.Invocation.Output);
            line.Writer.WriteNumber("removed"u8, removed);
        }
        else
        {
            foreach (string key in request.Words.Except(present, StringComparer.Ordinal))
            {
                request.Invocation.Tell($"{Quote(key)} has no value");
            }
        }

        return present.Length == request.Words.Length ? ExitCode.Done : ExitCode.No;
    }

    public static int List(CacheFileRequest request)
    {
        request.RequireWords(0, "list takes nothing");
        using FileEngine file = request.OpenValid();
        foreach (Entry entry in file.AllEntries())
        {
            if (request.Invocation.IsJson)
            {
                WriteJson(request.Invocation.Output, entry);
            }
            else
            {
                string value = entry.Value is byte[] bytes ? Convert.ToBase64String(bytes) : KeyText.Escape(EntryText.BytesOf(entry.Value!));
                request.Invocation.Output.WriteLine($"{KeyText.Escape(Encoding.UTF8.GetBytes(entry.Key))}\t{value}");
            }
        }

        return ExitCode.Done;
    }

    private static string Quote(string key) => KeyText.Quote(Encoding.UTF8.GetBytes(key));

    private static int ReportMiss(Invocation invocation, string key)
    {
        if (invocation.IsJson)
        {
            using var line = new JsonLine(invocation.Output);
            line.Writer.WriteString("key"u8, key);
            line.Writer.WriteBoolean("found"u8, false);
        }
        else
        {
            invocation.Tell($"{Quote(key)} has no value");
        }

        return ExitCode.No;
    }

    private static void WriteJson(ToolOutput output, Entry entry)
    {
        using var line = new JsonLine(output);
        line.Writer.WriteString("key"u8, entry.Key);
        switch (entry.Value)
        {
            case byte[] bytes:
                line.Writer.WriteBase64String("valueBase64"u8, bytes);
                break;
            case JsonText json:
                line.Writer.WritePropertyName("value"u8);
                line.Writer.WriteRawValue(json.Utf8, skipInputValidation: true); // The cache file was valid.
                break;
            default:
                line.Writer.WriteString("value"u8, EntryText.OfValue(entry.Value!));
                break;
        }

        if (entry.ExpiresTicks != Entry.Never)
        {
            line.Writer.WriteString("expires"u8, new DateTime(entry.ExpiresTicks, DateTimeKind.Utc));
        }
    }

    private static string ReadInput(CacheFileRequest request)
    {
        using Stream input = request.Invocation.Console.OpenInput();
        using var bytes = new MemoryStream();
        input.CopyTo(bytes);
        try
        {
            return StrictUtf8.GetString(bytes.GetBuffer(), 0, (int)bytes.Length);
        }
        catch (DecoderFallbackException wrong)
        {
            throw ToolException.Usage($"the input is not UTF-8 at byte {wrong.Index}; bytes are given in Base64, with --base64");
        }
    }

    private static object ReadValue(CacheFileRequest request, string word)
    {
        string text = word;
        if (word == "-")
        {
            text = ReadInput(request);
        }

        try
        {
            if (request.IsBase64)
            {
                return Convert.FromBase64String(text);
            }

            if (!request.IsJsonValue)
            {
                return text;
            }

            using JsonDocument document = JsonDocument.Parse(text);
            return document.RootElement.ValueKind == JsonValueKind.String
                ? document.RootElement.GetString()!
                : new JsonText(FileStore.Format.JsonLayout.OnOneLine(Encoding.UTF8.GetBytes(text)));
        }
        catch (Exception wrong) when (wrong is FormatException or JsonException or InvalidOperationException)
        {
            throw ToolException.Usage($"the value is not {(request.IsBase64 ? "Base64" : "JSON")}: {wrong.Message}");
        }
    }
}
