using System.Text.Json;
using Cairn.Cli.Commands;
using Cairn.Platform;
using Cairn.Server;

namespace Cairn.Cli.Serving;

// Combines the settings of a server from all sources. The command line takes precedence over the environment, which takes precedence over
// the file, which takes precedence over the defaults.
internal static class ServeConfiguration
{
    private const string StoreName = "store";

    /// <summary>Returns the combined options.</summary>
    /// <param name="settings">All settings.</param>
    /// <param name="invocation">The command line and the environment.</param>
    /// <param name="store">The store from the command line or the environment; null for none.</param>
    /// <param name="file">The configuration file; null for none.</param>
    /// <exception cref="ToolException">A setting is unknown or has the wrong form. The message states its source.</exception>
    public static ServerOptions Read(IReadOnlyList<ServeSetting> settings, Invocation invocation, string? store, string? file)
    {
        var options = new ServerOptions { Http = $"127.0.0.1:{ServerOptions.HttpPort}", IsHttpOptional = true };
        if (file is not null)
        {
            ReadFile(settings, file, ref options);
        }

        foreach (ServeSetting setting in settings)
        {
            if (invocation.Console.GetEnvironmentVariable(setting.Variable) is { Length: > 0 } text)
            {
                setting.Apply(text, $"the environment variable {setting.Variable}", ref options);
            }
        }

        WarnOfMisspelt(settings, invocation);
        foreach (ServeSetting setting in settings)
        {
            if (invocation.IsGiven(setting.Option))
            {
                setting.Apply(invocation.Get(setting.Option) ?? "", setting.Title, ref options);
            }
        }

        return store is null ? options : options with { StorePath = store };
    }

    // Warns only about names similar to a known one: some environments set other variables with this prefix to announce services.
    private static void WarnOfMisspelt(IReadOnlyList<ServeSetting> settings, Invocation invocation)
    {
        List<string> known =
        [
            .. settings.Select(setting => setting.Variable),
            SharedOptions.StoreVariable, SharedOptions.PasswordVariable, ServeCommand.ConfigVariable, ServeCommand.LogFormatVariable,
        ];
        foreach (string name in invocation.Console.EnvironmentVariableNames
            .Where(name => name.StartsWith(ServeSetting.VariablePrefix, StringComparison.Ordinal) && !known.Contains(name))
            .Order(StringComparer.Ordinal))
        {
            if (SimilarWord.Find(name, known.Select(other => other.ToLowerInvariant())) is { } similar)
            {
                invocation.Warn($"the environment variable {name} means nothing to the server, but {similar.ToUpperInvariant()} does");
            }
        }
    }

    private static void ReadFile(IReadOnlyList<ServeSetting> settings, string file, ref ServerOptions options)
    {
        using JsonDocument document = Parse(file);
        if (document.RootElement.ValueKind != JsonValueKind.Object)
        {
            throw Wrong(file, "it must be one JSON object, such as {\"memcached\": \"127.0.0.1:11211\"}");
        }

        var seen = new HashSet<string>(StringComparer.Ordinal);
        foreach (JsonProperty property in document.RootElement.EnumerateObject())
        {
            string name = Decode(file, () => property.Name)!;
            string where = $"\"{name}\" in '{file}'";
            if (!seen.Add(name))
            {
                throw Wrong(file, $"\"{name}\" is there twice");
            }

            string text = Decode(file, () => TextOf(property.Value)) ?? throw Wrong(file, $"\"{name}\" must be a text, a number, true or false");
            if (name == StoreName)
            {
                options = options with { StorePath = text };
                continue;
            }

            ServeSetting setting = settings.FirstOrDefault(known => known.Name == name)
                ?? throw Wrong(file, $"there is no setting \"{name}\". Known are {StoreName}, {string.Join(", ", settings.Select(known => known.Name))}");
            setting.Apply(text, where, ref options);
        }
    }

    private static JsonDocument Parse(string file)
    {
        // Not a field, so that the JSON library is loaded only if there is a file.
        var options = new JsonDocumentOptions { CommentHandling = JsonCommentHandling.Skip, AllowTrailingCommas = true };
        try
        {
            return JsonDocument.Parse(ShortFile.ReadBytes(file), options);
        }
        catch (JsonException e)
        {
            throw Wrong(file, $"it is not JSON: line {e.LineNumber + 1}, byte {e.BytePositionInLine + 1}", e);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new ToolException(ExitCode.File, $"the configuration '{file}' cannot be read: {e.Message}", e);
        }
    }

    // JSON is checked without its texts. They are decoded when they are read.
    private static string? Decode(string file, Func<string?> read)
    {
        try
        {
            return read();
        }
        catch (InvalidOperationException e)
        {
            throw Wrong(file, "a name or a text in it is not valid UTF-8, or has half of a surrogate pair", e);
        }
    }

    private static string? TextOf(JsonElement value) => value.ValueKind switch
    {
        JsonValueKind.String => value.GetString(),
        JsonValueKind.Number => value.GetRawText(),
        JsonValueKind.True => "on",
        JsonValueKind.False => "off",
        _ => null,
    };

    private static ToolException Wrong(string file, string what, Exception? inner = null) =>
        new(ExitCode.Usage, $"the configuration '{file}' cannot be used: {what}", inner);
}
