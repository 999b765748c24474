using Cairn.Clients.Nodes;

namespace Cairn.Redis;

/// <summary>Parses a configuration in the text format of StackExchange.Redis.</summary>
internal static class ConfigurationText
{
    private const int TlsPort = 6380;

    // Settings of StackExchange.Redis that have no effect here. They are accepted so that an existing configuration works without changes.
    private static readonly HashSet<string> s_withoutEffect = new(StringComparer.OrdinalIgnoreCase)
    {
        "abortConnect", "allowAdmin", "channelPrefix", "checkCertificateRevocation", "configChannel", "configCheckSeconds", "connectRetry",
        "heartbeatInterval", "highIntegrity", "highPrioritySocketThreads", "includeDetailInExceptions", "includePerformanceCountersInExceptions",
        "keepAlive", "preserveAsyncOrder", "proxy", "resolveDns", "responseTimeout", "setlib", "sslProtocols", "tiebreaker", "version", "writeBuffer",
    };

    public static RedisClientOptions Parse(string text)
    {
        var places = new List<string>();
        var settings = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase);
        foreach (string part in text.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries))
        {
            int equals = part.IndexOf('=', StringComparison.Ordinal);
            if (equals < 0)
            {
                places.Add(part);
                continue;
            }

            string name = part[..equals].TrimEnd();
            if (!settings.TryAdd(name, part[(equals + 1)..].TrimStart()))
            {
                throw new FormatException($"The Redis configuration sets '{name}' twice.");
            }
        }

        if (places.Count == 0)
        {
            throw new FormatException("The Redis configuration names no server. It begins with one, such as 'localhost:6379'; settings follow after commas.");
        }

        var reader = new Settings(settings);
        bool useTls = reader.Flag("ssl");
        var options = new RedisClientOptions
        {
            EndPoints = [.. places.Select(place => EndPointText.Parse(place, useTls ? TlsPort : RedisClientOptions.DefaultPort))],
            User = reader.Text("user"),
            Password = reader.Text("password"),
            ClientName = reader.Text("name"),
            Database = reader.Number("defaultDatabase") ?? 0,
            Protocol = reader.Protocol("protocol"),
            UseTls = useTls,
            TlsHost = reader.Text("sslHost"),
            TlsAuthorityPath = reader.Text("sslCa"),
        };
        int? syncTimeout = reader.Number("syncTimeout");
        if ((reader.Number("asyncTimeout") ?? syncTimeout) is { } timeout)
        {
            options = options with { OperationTimeout = TimeSpan.FromMilliseconds(timeout) };
        }

        if (reader.Number("connectTimeout") is { } connectTimeout)
        {
            options = options with { ConnectTimeout = TimeSpan.FromMilliseconds(connectTimeout) };
        }

        reader.ExpectEnd();
        try
        {
            options.Validate();
        }
        catch (ArgumentException wrong)
        {
            throw new FormatException($"The Redis configuration cannot be used: {wrong.Message}", wrong);
        }

        return options;
    }

    private sealed class Settings(Dictionary<string, string> settings)
    {
        public string? Text(string name) => settings.Remove(name, out string? text) && text.Length > 0 ? text : null;

        public bool Flag(string name) => Text(name) switch
        {
            null => false,
            var text when bool.TryParse(text, out bool flag) => flag,
            "1" or "yes" => true,
            "0" or "no" => false,
            var text => throw new FormatException($"The Redis configuration has {name}={text}; it is true or false."),
        };

        public int? Number(string name) => Text(name) switch
        {
            null => null,
            var text when int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int number) => number,
            var text => throw new FormatException($"The Redis configuration has {name}={text}; it is a whole number."),
        };

        public RedisProtocol Protocol(string name) => Text(name)?.ToUpperInvariant() switch
        {
            null => RedisProtocol.Automatic,
            "RESP2" or "2" => RedisProtocol.Resp2,
            "RESP3" or "3" => RedisProtocol.Resp3,
            var text => throw new FormatException($"The Redis configuration has {name}={text}; it is resp2 or resp3."),
        };

        public void ExpectEnd()
        {
            if (settings.ContainsKey("serviceName"))
            {
                throw new FormatException("The Redis configuration has serviceName: Sentinel is not supported. Name the servers themselves, or use a Cluster.");
            }

            if (settings.ContainsKey("tunnel"))
            {
                throw new FormatException("The Redis configuration has tunnel, which is not supported.");
            }

            // The message omits the value: the misspelled setting may be the password.
            if (settings.Keys.FirstOrDefault(name => !s_withoutEffect.Contains(name)) is { } unknown)
            {
                throw new FormatException(
                    $"The Redis configuration has '{unknown}=', which is not a setting. A password with a comma in it cannot be written in this text: set {nameof(RedisClientOptions)}.{nameof(RedisClientOptions.Password)}.");
            }
        }
    }
}
