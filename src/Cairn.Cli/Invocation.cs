using System.CommandLine;
using Cairn.Cli.Arguments;
using Cairn.Cli.Output;
using Cairn.Opening;

namespace Cairn.Cli;

/// <summary>One call of a command: what was asked for, and where the answer goes.</summary>
internal sealed class Invocation(ParseResult parsed, SharedOptions shared, ToolConsole console)
{
    public ToolConsole Console => console;

    public ToolOutput Output => console.Output;

    public bool IsJson => parsed.GetValue(shared.Json);

    /// <summary>The collection that was named; null for the store's own.</summary>
    public string? CollectionName => parsed.GetValue(shared.Collection);

    /// <summary>Path of the store, as it was given.</summary>
    /// <exception cref="ToolException">None was given.</exception>
    public string StorePath
    {
        get
        {
            return FindStorePath()
                ?? throw ToolException.Usage($"which store? Name its file with --store FILE, or in the environment variable {SharedOptions.StoreVariable}");
        }
    }

    /// <summary>Path of the store, as it was given; null if none was.</summary>
    public string? FindStorePath()
    {
        string? path = parsed.GetValue(shared.Store) ?? console.GetEnvironmentVariable(SharedOptions.StoreVariable);
        return string.IsNullOrWhiteSpace(path) ? null : path;
    }

    public T? Get<T>(Option<T> option) => parsed.GetValue(option);

    public T? Get<T>(Argument<T> argument) => parsed.GetValue(argument);

    public bool IsGiven(Option option) => parsed.GetResult(option) is { Implicit: false };

    public Expiration? Read(ExpirationOptions options) => options.Read(parsed, console.Clock);

    public byte[] ReadKey(Argument<string> argument) => KeyInput.ReadKey(Get(argument)!, Get(shared.KeyBase64));

    public byte[][] ReadKeys(Argument<string[]> argument) =>
        [.. Get(argument)!.Select(key => KeyInput.ReadKey(key, Get(shared.KeyBase64)))];

    /// <summary>Opens the store; one that is not there is an error.</summary>
    public CairnStore OpenExisting() => Open(new StoreOptions
    {
        Path = StorePath,
        OpenMode = StoreOpenMode.OpenExisting,
        Clock = console.Clock,
    });

    /// <summary>Opens the store, or creates it with the capacity that was asked for.</summary>
    public CairnStore OpenOrCreate()
    {
        string path = StorePath;
        bool isThere = File.Exists(path);
        long? capacity = Get(shared.Capacity);
        CairnStore store = Open(new StoreOptions
        {
            Path = path,
            CapacityBytes = capacity ?? SharedOptions.DefaultCapacityBytes,
            Clock = console.Clock,
        });
        if (isThere && capacity is { } wanted && store.GetStatistics() is var found
            && StoreExamination.DescribeOtherSize(store.Path, found.MaxCapacityBytes, found.FileBytes, wanted, wanted) is { } difference)
        {
            Warn(difference);
        }

        if (!isThere && console.IsErrorTerminal)
        {
            Tell($"created '{path}' ({Figures.Bytes(store.GetStatistics().FileBytes)})");
        }

        return store;
    }

    /// <summary>What the store is encrypted with, as it was given; null if nothing was.</summary>
    /// <exception cref="ToolException">There is more than one, or a file cannot be read.</exception>
    public StoreEncryption? FindEncryption()
    {
        string? keyFile = parsed.GetValue(shared.KeyFile);
        string? passwordFile = parsed.GetValue(shared.PasswordFile);
        if (keyFile is not null)
        {
            return passwordFile is null
                ? SecretFile.ReadKey(keyFile)
                : throw ToolException.Usage("a store is encrypted with a key or with a password: name one of --key-file and --password-file");
        }

        return passwordFile is not null ? SecretFile.ReadPassword(passwordFile)
            : console.GetEnvironmentVariable(SharedOptions.PasswordVariable) is { Length: > 0 } password ? StoreEncryption.FromPassword(password)
            : null;
    }

    /// <summary>Opens a store and passes on what the library has to say about it.</summary>
    public CairnStore Open(StoreOptions options)
    {
        options = options with { Encryption = FindEncryption() };
        CairnStore store = OnStore(options.Path, () => CairnStore.Open(options));
        foreach (string warning in store.Warnings)
        {
            Warn(warning);
        }

        return store;
    }

    /// <summary>Does something to a store's file; what the framework throws at it becomes an error about the store.</summary>
    public static T OnStore<T>(string path, Func<T> work)
    {
        try
        {
            return work();
        }
        catch (FileNotFoundException missing)
        {
            throw new ToolException(
                ExitCode.Store, $"there is no store '{path}'; 'cairn create', 'cairn set' and 'cairn import' make one", missing);
        }
        catch (DirectoryNotFoundException missing)
        {
            throw new ToolException(ExitCode.Store, $"the directory of the store '{path}' does not exist; make it first, or correct the path", missing);
        }
        catch (Exception denied) when (denied is UnauthorizedAccessException || (denied is IOException and not StoreException))
        {
            throw new ToolException(ExitCode.Store, $"the store '{path}' cannot be used: {denied.Message}", denied);
        }
        catch (ArgumentException wrong)
        {
            throw WrongOption(wrong);
        }
    }

    /// <summary>The collection that was asked for; null if the store has none of that name. Never creates one.</summary>
    public CairnCollection? FindCollection(CairnStore store) =>
        CollectionName is not { Length: > 0 } name ? store
        : store.CollectionNames.Contains(name, StringComparer.Ordinal) ? store.Collection(name)
        : null;

    /// <summary>The collection that was asked for, created if need be.</summary>
    public CairnCollection OpenCollection(CairnStore store) =>
        CollectionName is { Length: > 0 } name ? store.Collection(name) : store;

    public void Tell(string message) => ErrorMessages.WriteNote(console, IsJson, message);

    public void Warn(string message) => ErrorMessages.WriteWarning(console, IsJson, LibraryTerms.ForTool(message));

    /// <summary>The error for a value that the library refused.</summary>
    public static ToolException WrongOption(ArgumentException wrong) => ToolException.Usage(LibraryTerms.ForTool(WithoutParameterName(wrong)));

    /// <summary>The framework appends the parameter and the value, which mean nothing to somebody at a command line.</summary>
    public static string WithoutParameterName(ArgumentException wrong)
    {
        string message = wrong.Message;
        int end = message.IndexOf(" (Parameter '", StringComparison.Ordinal);
        return end < 0 ? message : message[..end];
    }
}
