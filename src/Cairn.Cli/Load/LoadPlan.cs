using Cairn.Cli.Clients;

namespace Cairn.Cli.Load;

/// <summary>What a load is made of.</summary>
internal sealed record LoadPlan
{
    public const string KeyPrefix = "cairn-bench:";

    /// <summary>The number of a key, with leading zeros, so that all requests of a kind are equally long.</summary>
    public const int KeyDigits = 10;

    public required ServerTarget Target { get; init; }

    public int Connections { get; init; } = 50;

    /// <summary>Requests under way on each connection.</summary>
    public int Pipeline { get; init; } = 1;

    public int Threads { get; init; } = 1;

    public TimeSpan Warmup { get; init; } = TimeSpan.FromSeconds(1);

    public TimeSpan Duration { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Requests until the end, in place of a time.</summary>
    public long? Requests { get; init; }

    public int Keys { get; init; } = 100_000;

    public int MinValueBytes { get; init; } = 100;

    public int MaxValueBytes { get; init; } = 100;

    public int SetPercent { get; init; } = 10;

    /// <summary>Exponent of Zipf's law; null for keys that are all equally wanted.</summary>
    public double? ZipfExponent { get; init; }

    /// <summary>Keys that one get asks for.</summary>
    public int KeysPerGet { get; init; } = 1;

    /// <summary>Requests in a second, sent whether or not earlier ones have been answered; null to wait for answers.</summary>
    public double? RequestsPerSecond { get; init; }

    public bool IsFilledFirst { get; init; }

    public bool IsKept { get; init; }

    public bool IsVerified { get; init; }

    public ulong Seed { get; init; } = 1;
}

/// <summary>What requests are for.</summary>
internal enum LoadStep
{
    /// <summary>Sets every key once.</summary>
    Fill,

    /// <summary>Gets and sets, which are measured.</summary>
    Mix,

    /// <summary>Removes every key.</summary>
    Remove,
}
