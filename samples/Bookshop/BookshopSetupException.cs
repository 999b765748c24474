namespace Bookshop;

/// <summary>Something outside of the program is missing or wrong. The message names it and says how to correct it.</summary>
internal sealed class BookshopSetupException(string message, Exception? cause = null) : Exception(message, cause);
