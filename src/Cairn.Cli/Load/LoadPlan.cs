using Cairn.Cli.Clients;

namespace Cairn.Cli.Load;

/// <summary>The parameters of a load.</summary>
internal sealed record LoadPlan
{
    public const string KeyPrefix = "cairn-bench:";

    /// <summary>The number of digits of a key, with leading zeros, so that all requests of a kind have the same length.</summary>
    public const int KeyDigits = 10;

    public required ServerTarget Target { get; init; }

    public int Connections { get; init; } = 50;

    /// <summary>The number of requests without a reply on each connection.</summary>
    public int Pipeline { get; init; } = 1;

    public int Threads { get; init; } = 1;

    public TimeSpan Warmup { get; init; } = TimeSpan.FromSeconds(1);

    public TimeSpan Duration { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>The number of requests of the measurement, instead of a time.</summary>
    public long? Requests { get; init; }

    public int Keys { get; init; } = 100_000;

    public int MinValueBytes { get; init; } = 100;

    public int MaxValueBytes { get; init; } = 100;

    public int SetPercent { get; init; } = 10;

    /// <summary>The exponent of Zipf's law; null for equally frequent keys.</summary>
    public double? ZipfExponent { get; init; }

    /// <summary>The number of keys of one get.</summary>
    public int KeysPerGet { get; init; } = 1;

    /// <summary>The number of requests per second, sent even if earlier ones are not answered; null to wait for replies.</summary>
    public double? RequestsPerSecond { get; init; }

    public bool IsFilledFirst { get; init; }

    public bool IsKept { get; init; }

    public bool IsVerified { get; init; }

    public ulong Seed { get; init; } = 1;
}

/// <summary>The purpose of requests.</summary>
internal enum LoadStep
{
    /// <summary>Sets every key once.</summary>
    Fill,

    /// <summary>Sends gets and sets, which are measured.</summary>
    Mix,

    /// <summary>Removes every key.</summary>
    Remove,
}
