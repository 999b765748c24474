using Cairn.Opening;

namespace Cairn.Cli.Arguments;

/// <summary>One call of a command, with its options and its output.</summary>
internal sealed class Invocation(ParseResult parsed, SharedOptions shared, ToolConsole console)
{
    public ToolConsole Console => console;

    public ToolOutput Output => console.Output;

    public bool IsJson => parsed.GetValue(shared.Json);

    /// <summary>Gets the name of the requested collection; null for the default collection.</summary>
    public string? CollectionName => parsed.GetValue(shared.Collection);

    /// <summary>Gets the path of the store as the user wrote it.</summary>
    /// <exception cref="ToolException">The user named no store.</exception>
    public string StorePath
    {
        get
        {
            return FindStorePath()
                ?? throw ToolException.Usage($"which store? Name its file with --store FILE, or in the environment variable {SharedOptions.StoreVariable}");
        }
    }

    /// <summary>Returns the path of the store as the user wrote it; null if there is none.</summary>
    public string? FindStorePath()
    {
        string? path = parsed.GetValue(shared.Store) ?? console.GetEnvironmentVariable(SharedOptions.StoreVariable);
        if (string.IsNullOrWhiteSpace(path))
        {
            return null;
        }

        ReplacedFile.RequireName(path);
        return path;
    }

    public T? Get<T>(Option<T> option) => parsed.GetValue(option);

    public T? Get<T>(Argument<T> argument) => parsed.GetValue(argument);

    public bool IsGiven(Option option) => parsed.GetResult(option) is { Implicit: false };

    public Expiration? Read(ExpirationOptions options) => options.Read(parsed, console.Clock);

    public byte[] ReadKey(Argument<string> argument) => ReadKey(Get(argument)!);

    public byte[] ReadKey(string text) => KeyInput.ReadKey(text, Get(shared.KeyBase64));

    public byte[][] ReadKeys(Argument<string[]> argument) =>
        [.. Get(argument)!.Select(key => KeyInput.ReadKey(key, Get(shared.KeyBase64)))];

    /// <summary>Opens the store. A missing store is an error.</summary>
    public CairnStore OpenExisting() => Open(new StoreOptions
    {
        Path = StorePath,
        OpenMode = StoreOpenMode.OpenExisting,
        TimeProvider = console.Clock,
    });

    /// <summary>Opens the store, or creates it with the requested capacity.</summary>
    public CairnStore OpenOrCreate()
    {
        string path = StorePath;
        bool isThere = File.Exists(path);
        long? capacity = Get(shared.Capacity);
        CairnStore store = Open(new StoreOptions
        {
            Path = path,
            CapacityBytes = capacity ?? SharedOptions.DefaultCapacityBytes,
            TimeProvider = console.Clock,
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

    /// <summary>Returns the requested encryption of the store; null if there is none.</summary>
    /// <exception cref="ToolException">More than one is given, or a file cannot be read.</exception>
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

    /// <summary>Opens a store and shows the library's warnings about it.</summary>
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

    /// <summary>Runs an operation on a store's file. Turns exceptions of the framework into errors about the store.</summary>
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
            throw new ToolException(ExitCode.Store, $"the directory of the store '{path}' does not exist; create it first, or correct the path", missing);
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

    /// <summary>Returns the requested collection; null if the store does not have it. Never creates one.</summary>
    public CairnCollection? FindCollection(CairnStore store) =>
        CollectionName is not { Length: > 0 } name ? store.DefaultCollection
        : store.CollectionNames.Contains(name, StringComparer.Ordinal) ? store.Collection(name)
        : null;

    /// <summary>Returns the requested collection, and creates it if necessary.</summary>
    public CairnCollection OpenCollection(CairnStore store) =>
        CollectionName is { Length: > 0 } name ? store.Collection(name) : store.DefaultCollection;

    public void Tell(string message) => ErrorMessages.WriteNote(console, IsJson, message);

    public void Warn(string message) => ErrorMessages.WriteWarning(console, IsJson, LibraryTerms.ForTool(message));

    /// <summary>Returns the error for a value that the library rejected.</summary>
    public static ToolException WrongOption(ArgumentException wrong) => ToolException.Usage(LibraryTerms.ForTool(WithoutParameterName(wrong)));

    /// <summary>Removes the parameter name that the framework appends to a message, because it means nothing on a command line.</summary>
    public static string WithoutParameterName(ArgumentException wrong)
    {
        string message = wrong.Message;
        int end = message.IndexOf(" (Parameter '", StringComparison.Ordinal);
        return end < 0 ? message : message[..end];
    }
}
